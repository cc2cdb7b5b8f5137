/* SPDX-License-Identifier: BSD-2-Clause */
'use strict';(function(){
function show(){var at=document.getElementById(location.hash.slice(1));
 if(at&&at.tagName==='DETAILS'){at.open=true;at.scrollIntoView();}}
addEventListener('hashchange',show);show();
addEventListener('beforeprint',function(){
 document.querySelectorAll('details').forEach(function(d){d.open=true;});});
var table=document.getElementById('catalog'),body=table.tBodies[0],heads=table.tHead.rows[0].cells;
Array.from(body.rows).forEach(function(row,i){row.dataset.order=i;});
var find=document.getElementById('find'),found=document.getElementById('found');
if(find)find.addEventListener('input',function(){var want=find.value.toLowerCase(),count=0;
 for(var row of body.rows){
  row.hidden=!row.cells[0].textContent.toLowerCase().includes(want);if(!row.hidden)count++;}
 found.textContent=want?count+' of '+body.rows.length:'';});
function key(row,i){if(i===0)return+row.dataset.order;
 var cell=row.cells[i],data=cell&&cell.querySelector('data');
 var value=data?JSON.parse(data.getAttribute('value')):cell?cell.textContent:'';
 return value===null?-1:value;}
function sort(head){var i=head.cellIndex,up=head.getAttribute('aria-sort')!=='ascending';
 for(var other of heads)if(other.tagName==='TH')other.removeAttribute('aria-sort');
 head.setAttribute('aria-sort',up?'ascending':'descending');
 var rows=Array.from(body.rows).map(function(row){return[key(row,i),row];});
 rows.sort(function(a,b){var x=a[0],y=b[0];
  return(typeof x===typeof y?(x<y?-1:x>y?1:0):typeof x==='number'?-1:1)*(up?1:-1);});
 rows.forEach(function(row){body.appendChild(row[1]);});}
Array.from(heads).forEach(function(head){if(head.tagName!=='TH')return;
 var button=document.createElement('button');button.type='button';
 button.textContent=head.textContent;head.textContent='';head.appendChild(button);
 button.addEventListener('click',function(){sort(head);});});
document.addEventListener('pointermove',function(event){
 var map=event.target.closest&&event.target.closest('svg.heat');if(!map)return;
 var box=map.getBoundingClientRect(),size=map.viewBox.baseVal;
 var x=Math.floor((event.clientX-box.left)/box.width*size.width);
 var y=Math.floor((event.clientY-box.top)/box.height*size.height);
 var fill=map.dataset.fill.split(' ')[y*size.width+x];
 if(fill!==undefined)map.closest('figure').querySelector('output').textContent=
  '\u00b7 part '+(y*size.width+x+1)+': '+(100*fill).toFixed(1)+' %';});
})();
